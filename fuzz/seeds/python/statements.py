async def f(x, /, *y, z: int = 1if x else 0x1for) -> "t":
    return (yield x) \
        if y else t"{z}"
