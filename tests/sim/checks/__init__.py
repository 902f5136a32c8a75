"""One file per promise, named for it. A checker is a module of generators that yield findings:

on_written   a batch reached a log, this instant
on_restart   a process has died; its disk is what the next one finds
at_end       everything is quiet
"""
