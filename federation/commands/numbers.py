"""Bounds of the numbers that commands take: those of the fields that carry them, and finite seconds."""

import math
from typing import Any, Final

import click

INT16_MAX: Final = (1 << 15) - 1
INT32_MAX: Final = (1 << 31) - 1
INT64_MAX: Final = (1 << 63) - 1


class Seconds(click.FloatRange):
    """A FloatRange without NaN, which no bound excludes."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return number
