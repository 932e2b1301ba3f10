"""Web server: an asynchronous front that reads requests, and a few threads that answer them.

A connection costs the front only memory. A thread is taken once a request is complete, so that slow clients
block nobody. `protocol` limits headers, `limits` bodies, and `front` runs Django and ties them together.
"""
