"""Imports go one way: no module needs itself."""

from tests.tidy.imports import circles, imports_at_run_time


def test_no_module_imports_itself_by_way_of_others() -> None:
    tied = [" ".join(circle) for circle in circles(imports_at_run_time())]
    assert not tied, "\n".join(tied)


def test_a_circle_is_found_and_what_only_leads_to_it_is_not_in_it() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"e"}}
    assert circles(imports) == [["b", "c"], ["e"]]
