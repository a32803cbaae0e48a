"""The bounded table of what was used lately."""

from hypothesis import given
from hypothesis import strategies as st

from pipelink.runtime.recent import Recent


@given(st.lists(st.integers(0, 12), max_size=60))
def test_the_last_half_is_kept_and_the_limit_holds(keys: list[int]) -> None:
    table: Recent[int, int] = Recent(8)
    used: list[int] = []
    for key in keys:
        known = table.get(key)
        assert known in (None, 2 * key)
        if key in list(dict.fromkeys(reversed(used)))[:4]:
            assert known == 2 * key
        if known is None:
            table.put(key, 2 * key)
        used.append(key)
        assert len(table) <= 8
    table.clear()
    assert len(table) == 0
