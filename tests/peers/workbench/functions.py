"""The functions of the two servers of `server.py`, imported by their kernels."""


def parse_molecule(smiles: str) -> dict:
    return {"atoms": sum(letter.isalpha() for letter in smiles)}


def compute_descriptors(atoms: int) -> dict:
    return {"weight": atoms * 12}


def load_points(count: int) -> dict:
    return {"points": [[place, place * place] for place in range(count)]}


def map_points(points: list) -> dict:
    return {"map": f"{len(points)} points"}
