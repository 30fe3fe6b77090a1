"""A CodeExecutionServer of agora-workbench with two functions, their states and a skill.

usage: server.py chem|gis PORT sync|adaptive|patient|async_only open|strict

Serves on 127.0.0.1. `open` takes every caller for the same one; `strict` lets in `Bearer good-NAME` as NAME and nobody
else. What `adaptive` promotes to a job takes longer than a second; `patient` waits ten. $HOME is its scratch folder: kernels are registered there, and
work there.
"""

import asyncio
import shutil
import sys
from pathlib import Path

from agora_workbench.code_execution import (
    CodeExecutionServer,
    ReturnSpec,
    ServerConfig,
    Skill,
    StateTransition,
    ToolDefinition,
    ToolParameter,
    ToolRegistry,
)
from agora_workbench.code_execution.auth.base import (
    AuthConfig,
    IdentityExtractor,
    TokenValidationError,
    TokenValidator,
)
from agora_workbench.code_execution.auth.noop import create_noop_auth_config


class Strict(TokenValidator):
    async def validate(self, token, *, request_path="/mcp", request_method="POST"):
        if token.startswith("good-"):
            return {"sub": token.removeprefix("good-")}
        raise TokenValidationError("The token is not one of ours.")


class Subject(IdentityExtractor):
    def extract(self, claims):
        return f"{claims['sub']}@strict"


def function(name, description, parameter, result, states, affordances=()):
    (given, given_type), (made, made_type) = parameter, result
    return ToolDefinition(
        name=name,
        description=description,
        required_parameters=[ToolParameter(name=given, type=given_type, description=given)],
        return_spec=[ReturnSpec(name=made, type=made_type, description=made)],
        module_override="functions",
        state_transition=StateTransition(requires=states[0], produces=states[1]),
        affordances=list(affordances),
    )


FUNCTIONS = {
    "chem": [
        function(
            "parse_molecule",
            "Parse and validate a SMILES string into a molecule",
            ("smiles", str),
            ("atoms", int),
            ([], ["chem.molecule_parsed"]),
            ["validate a SMILES string"],
        ),
        function(
            "compute_descriptors",
            "Compute molecular descriptors such as weight",
            ("atoms", int),
            ("weight", int),
            (["chem.molecule_parsed"], ["chem.descriptors_computed"]),
        ),
    ],
    "gis": [
        function(
            "load_points",
            "Load points of a survey",
            ("count", int),
            ("points", list),
            ([], ["gis.points_loaded"]),
        ),
        function(
            "map_points",
            "Render points on a map",
            ("points", list),
            ("map", str),
            (["gis.points_loaded"], ["gis.map_rendered"]),
        ),
    ],
}
SKILLS = {
    "chem": Skill(
        name="drug-screening",
        description="Screen molecules by descriptors",
        domain="chem",
        states=["chem.molecule_parsed", "chem.descriptors_computed"],
        content="# Drug screening\n\n1. Parse.\n2. Compute.\n",
    ),
    "gis": Skill(
        name="survey-map",
        description="Draw a map of a survey",
        domain="gis",
        states=["gis.points_loaded"],
        content="# Survey map\n\n1. Load.\n2. Draw \u201cit\u201d.\n",
    ),
}


def main(name: str, port: str, mode: str, auth: str) -> None:
    home = Path.home()
    shutil.copy(Path(__file__).with_name("functions.py"), home / "functions.py")
    registry = ToolRegistry()
    for tool in FUNCTIONS[name]:
        registry.register_tool(tool)
    promoted_after = {"adaptive": 1.0, "patient": 10.0}.get(mode)
    limits = {"execution_mode": mode, "default_timeout": 120, "max_timeout": 240}
    if promoted_after:
        limits |= {"execution_mode": "adaptive", "promotion_threshold_s": promoted_after}
    server = CodeExecutionServer(
        ServerConfig(
            name=name,
            description=f"Toy {name} environment.",
            type="pip",
            dependency_file="",
            # This very environment: it has what a kernel needs, so that none is built.
            build_dir=Path(sys.prefix),
            asset_cache_dir=home,
            auto_build=False,
            **limits,
        ),
        tool_registry=registry,
        auth_config=AuthConfig(Strict(), Subject()) if auth == "strict" else create_noop_auth_config(),
        working_dir=home,
        skills=[SKILLS[name]],
    )
    asyncio.run(server.run_http(port=int(port)))


main(*sys.argv[1:])
