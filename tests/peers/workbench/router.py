"""A RouterServer of agora-workbench.

usage: router.py PORT CONFIG   where CONFIG is the JSON of a RouterConfig
       router.py print CONFIG  prints what `model_dump_json()` makes of it
       router.py gateway CONFIG  prints the same of a GatewayConfig
"""

import asyncio
import sys

from agora_workbench.connector import GatewayConfig, RouterConfig, RouterServer


def main(port: str, text: str) -> None:
    if port == "gateway":
        print(GatewayConfig.model_validate_json(text).model_dump_json())
        return
    config = RouterConfig.model_validate_json(text)
    if port == "print":
        print(config.model_dump_json())
        return
    asyncio.run(RouterServer(config).run_http(port=int(port)))


main(*sys.argv[1:])
