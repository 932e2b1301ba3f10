"""Reading a report's result: figures, sentences, tables, charts, and the forms it is downloaded in.

Everything here works on the plain result that a report keeps; nothing reads the labels again.
"""
