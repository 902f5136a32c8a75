"""Imports go one way: no module needs itself."""

from tests.tidy.imports import circles, imports_at_run_time

# Packages whose modules import one another in a circle yet: untie it, take it off.
CIRCLES_YET = ("brokers.api.",)


def test_no_module_imports_itself_by_way_of_others() -> None:
    tied = [
        " ".join(circle)
        for circle in circles(imports_at_run_time())
        if not all(module.startswith(CIRCLES_YET) for module in circle)
    ]
    assert not tied, "\n".join(tied)


def test_the_list_of_circles_is_no_longer_than_it_must_be() -> None:
    tied = [module for circle in circles(imports_at_run_time()) for module in circle]
    untied = [
        package for package in CIRCLES_YET if not any(module.startswith(package) for module in tied)
    ]
    assert not untied, untied


def test_a_circle_is_found_and_what_only_leads_to_it_is_not_in_it() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"e"}}
    assert circles(imports) == [["b", "c"], ["e"]]
