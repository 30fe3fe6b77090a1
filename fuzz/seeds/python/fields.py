f"{a!r:>{w}.{p}} {d["k"]=}" + rf'''{x:\N{BULLET}}''' # c
