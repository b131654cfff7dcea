"""The code of plug-ins, written into them as it is: `answer` into each, and the server's own.  None runs here."""
