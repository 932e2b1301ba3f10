"""Background work. Other packages register their job kinds in a table (`jobs.kinds`) and are not imported
here.
"""
