"""Makes one way of working for every model out of the list that the release brings along.

catalog.py < models.json > catalog.json. Left to itself the program offers some models a script interpreter in place of tools, hidden inside the
conversation, and teams of agents; which tools a model was offered could then not be read from its requests.
"""

import json
import sys

catalog = json.load(sys.stdin)
for model in catalog["models"]:
    for name in ("tool_mode", "multi_agent_version", "multi_agent_reasoning_effort"):
        model.pop(name, None)
    model.update(
        use_responses_lite=False,
        supports_search_tool=False,
        experimental_supported_tools=[],
        node_repl_auto_review_required=False,
        node_repl_disabled=True,
        upgrade=None,
        availability_nux=None,
    )
json.dump(catalog, sys.stdout, indent=1)
