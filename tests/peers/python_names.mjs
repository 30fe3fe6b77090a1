// What CPython says of Python code: a JSON list of texts in, a list of answers out. `names`: the names that its tokeniser finds, in
// form NFKC, or null where it refuses; `compiles`: whether the compiler takes the code; `used`: the names in its syntax tree.
//
// usage: python_names.mjs PYODIDE < TEXTS
//
// PYODIDE is the module of the package: CPython as WebAssembly, so that the version is the one of the lock file.

const { loadPyodide } = await import(process.argv[2]);

const ORACLE = String.raw`
import ast, io, json, tokenize, unicodedata, warnings

def tokens(code):
    text = code.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        found = [token.string for token in tokenize.generate_tokens(io.StringIO(text).readline)
                 if token.type == tokenize.NAME]
    except (tokenize.TokenError, SyntaxError, ValueError, MemoryError):
        # the last two are how the tokeniser ends some unfinished strings
        return None
    return {unicodedata.normalize("NFKC", name) for name in found}

def tree(code):
    try:
        # "is" with a literal, an unknown escape and the like only warn
        return compile(code.removeprefix("\ufeff"), "code", "exec",
                       ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

def used(node):
    for part in ast.walk(node):
        for field in ("id", "attr", "arg", "name", "asname", "rest", "module"):
            value = getattr(part, field, None)
            if isinstance(value, str):
                yield from value.split(".")
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            yield from part.names
        if isinstance(part, ast.MatchClass):
            yield from part.kwd_attrs

def answer(code):
    warnings.simplefilter("ignore")
    names, parsed = tokens(code), tree(code)
    in_tree = set() if parsed is None else set(used(parsed)) - {"*"}
    return {"names": None if names is None else sorted(names), "compiles": parsed is not None, "used": sorted(in_tree)}

json.dumps([answer(code) for code in json.loads(GIVEN)])
`;

const given = [];
for await (const part of process.stdin) given.push(part);
const python = await loadPyodide();
python.globals.set("GIVEN", Buffer.concat(given).toString("utf8"));
process.stdout.write(python.runPython(ORACLE));
