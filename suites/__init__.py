"""A paper's whole study each: records, models, actions, agents or generators, report, pages and API. The core does not know them."""
