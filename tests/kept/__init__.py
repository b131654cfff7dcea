"""What others wrote, and what a model wrote, is kept: no marker in a prompt steers a parser, no word of one is lost."""
