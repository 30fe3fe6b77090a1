"""A RouterServer of agora-workbench.

usage: router.py PORT CONFIG   where CONFIG is the JSON of a RouterConfig
       router.py print CONFIG  prints what `model_dump_json()` makes of it
"""

import asyncio
import sys

from agora_workbench.connector import RouterConfig, RouterServer


def main(port: str, text: str) -> None:
    config = RouterConfig.model_validate_json(text)
    if port == "print":
        print(config.model_dump_json())
        return
    asyncio.run(RouterServer(config).run_http(port=int(port)))


main(*sys.argv[1:])
