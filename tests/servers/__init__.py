"""Plug-ins inside the real servers: `make servers` installs those, away from the environment of the other tests."""
