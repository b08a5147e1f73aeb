"""How a text for people goes out."""

from dispatch_cli.render.text import Style as Style
