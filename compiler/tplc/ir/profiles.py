"""Who reads a response template: `transformers` uses all there is, `servers` what serving engines take."""

from __future__ import annotations

from typing import Literal, get_args

Profile = Literal["transformers", "servers"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
