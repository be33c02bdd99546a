"""Stores histories in Valkey or Redis, counted by keyed hashes of the sender."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar, cast

import redis

from service.domain.comment import Comment, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError
from service.domain.sender import Conduct, History
from service.reputation.conduct import CONDUCT_KEPT, Steps, conduct_from, steps_of
from service.reputation.histories import (
    CONTENT,
    LETTERS,
    SENDERS,
    SIGHTINGS_KEPT,
    Counter,
    fading_of,
    gather_histories,
    oldest_sightings,
    sighting_fields,
)
from service.reputation.names import (
    CommentNames,
    all_names_of_account,
    at_site,
    names_of,
    names_of_accounts,
    names_of_person,
    owners_of,
)
from service.stores.valkey.client import Circuit, ValkeyStore

Arg = str | int | float


class Asked(NamedTuple):
    """A comment of a batch: its names, its account's steps, and the keys that find the account."""

    names: CommentNames
    steps: Steps | None
    owners: tuple[str, ...]


# KEYS: the set of sites; n markers of comments; m counters of decisions; w counters of sightings; c
# conducts of accounts; the keys that find accounts; the mark of a filled store.
# ARGV: n, m, w, c, now, seconds to keep, the fields of the current hour and day, the oldest number
# of each that still counts, seconds to keep conducts, number of sites, seconds to keep them, the
# sites; then per counter of sightings the comments to count, as numbers separated by blanks; per
# conduct the steps of each comment, as "number>steps;"; per conduct the numbers of the keys that
# find it; 1 if the store must be filled.
# Returns four texts of lines, because thousands of small values would be slow: when each comment
# was counted before (empty if now), and the fields and counts of the decisions, the sightings and
# the conducts before this batch; nothing if the store must be filled and is not. From three
# quarters of `maxmemory` on, or on a server that refuses writes, nothing is counted, so that a
# flood cannot evict the decisions or the queue on the same server.
GATHER = """
local n, m, w, c = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local kept, hour, day = ARGV[6], ARGV[7], ARGV[8]
local oldest = {h = tonumber(ARGV[9]), d = tonumber(ARGV[10])}
local first = 13 + tonumber(ARGV[12])
if ARGV[#ARGV] == '1' and redis.call('EXISTS', KEYS[#KEYS]) == 0 then return false end
local memory = redis.pcall('INFO', 'memory')
memory = type(memory) == 'string' and memory or ''
local most = tonumber(string.match(memory, '\\nmaxmemory:(%d+)') or 0)
local used = tonumber(string.match(memory, '\\nused_memory:(%d+)') or 0)
local writes = most == 0 or used < 0.75 * most
local function write(...)
    local answer = writes and redis.pcall(...)
    if type(answer) == 'table' and answer.err then writes = false end
    return writes and answer
end
for i = 14, first do write('SADD', KEYS[1], ARGV[i]) end
write('EXPIRE', KEYS[1], ARGV[13])
local seen = {}
for i = 1, n do
    seen[i] = ''
    if not write('SET', KEYS[1 + i], ARGV[5], 'NX', 'EX', kept) then
        seen[i] = redis.call('GET', KEYS[1 + i]) or ''
    end
end
local decisions, sightings = {}, {}
for j = 1, m do
    decisions[j] = table.concat(redis.call('HGETALL', KEYS[1 + n + j]), ' ')
end
for j = 1, w do
    local key = KEYS[1 + n + m + j]
    local before = redis.call('HGETALL', key)
    sightings[j] = table.concat(before, ' ')
    local new = 0
    for i in string.gmatch(ARGV[first + j], '%d+') do
        if seen[tonumber(i)] == '' then new = new + 1 end
    end
    if new > 0 then
        write('HINCRBY', key, hour, new)
        write('HINCRBY', key, day, new)
        write('EXPIRE', key, kept)
        if #before > 48 then
            for f = 1, #before, 2 do
                if tonumber(string.sub(before[f], 3)) < oldest[string.sub(before[f], 1, 1)] then
                    write('HDEL', key, before[f])
                end
            end
        end
    end
end
local conducts = {}
for j = 1, c do
    local key, touched = KEYS[1 + n + m + w + j], false
    conducts[j] = table.concat(redis.call('HGETALL', key), ' ')
    for i, steps in string.gmatch(ARGV[first + w + j], '(%d+)>([^;]*);') do
        if seen[tonumber(i)] == '' then
            for how, field, value in string.gmatch(steps, '([=+])(%a%d*):(-?%d+)') do
                local act = how == '=' and 'HSET' or 'HINCRBY'
                write(act, key, field, value)
            end
            touched = true
        end
    end
    if touched then
        write('EXPIRE', key, ARGV[11])
        for owner in string.gmatch(ARGV[first + w + c + j], '%d+') do
            local found_by = KEYS[1 + n + m + w + c + tonumber(owner)]
            write('SADD', found_by, key)
            write('EXPIRE', found_by, ARGV[11])
        end
    end
end
return {
    table.concat(seen, '\\n'), table.concat(decisions, '\\n'), table.concat(sightings, '\\n'),
    table.concat(conducts, '\\n')
}
"""

# KEYS: the decision's marker, the set of sites, its counters. ARGV: the letter to count under, the
# site; for the current week and the current day: its number, seconds to keep, the number of earlier
# ones that still count; then per counter 1 for weeks or 2 for days.
# The marker holds what was counted, "u" once undone: a delayed repeat of `learn` must not restore
# an undone decision.
LEARN = """
local counted = ARGV[1] .. ':' .. ARGV[3] .. ':' .. ARGV[6]
if not redis.call('SET', KEYS[1], counted, 'NX', 'EX', ARGV[4]) then return 0 end
redis.call('SADD', KEYS[2], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[4])
for i = 3, #KEYS do
    local by = 3 * tonumber(ARGV[6 + i])
    redis.call('HINCRBY', KEYS[i], ARGV[1] .. ':' .. ARGV[by], 1)
    redis.call('EXPIRE', KEYS[i], ARGV[by + 1])
    if redis.call('HLEN', KEYS[i]) > 72 then
        local fields, newest = redis.call('HKEYS', KEYS[i]), 0
        for _, field in ipairs(fields) do
            newest = math.max(newest, tonumber(string.sub(field, 3)))
        end
        for _, field in ipairs(fields) do
            if tonumber(string.sub(field, 3)) < newest - tonumber(ARGV[by + 2]) then
                redis.call('HDEL', KEYS[i], field)
            end
        end
    end
end
return 1
"""

# KEYS and ARGV as in LEARN. A counter that has expired must not become negative.
UNLEARN = """
local counted = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], 'u', 'EX', ARGV[4])
if not counted or counted == 'u' then return 0 end
local letter, week, day = string.match(counted, '(%a):(-?%d+):(-?%d+)')
for i = 3, #KEYS do
    local field = letter .. ':' .. (ARGV[6 + i] == '1' and week or day)
    if redis.call('HINCRBY', KEYS[i], field, -1) <= 0 then
        redis.call('HDEL', KEYS[i], field)
    end
end
return 1
"""


def _gather_args(
    batch: Sequence[Asked],
    watched: Sequence[str],
    accounts: Sequence[str],
    owners: Sequence[str],
    *,
    now: datetime,
) -> Iterator[Arg]:
    """Yield the arguments of `GATHER` after the first four, except the last one."""
    counted_in: dict[str, list[str]] = {name: [] for name in watched}
    steps = dict.fromkeys(accounts, "")
    owned: dict[str, set[int]] = {name: set() for name in accounts}
    found_by = {name: number for number, name in enumerate(owners, start=1)}
    for number, asked in enumerate(batch, start=1):
        for name in asked.names.sighted():
            counted_in[name].append(str(number))
        for account in asked.names.accounts()[:1]:
            parts = (("=", asked.steps.set), ("+", asked.steps.add)) if asked.steps else ()
            taken = (f"{how}{name}:{value}" for how, some in parts for name, value in some.items())
            steps[account] += f"{number}>{' '.join(taken)};"
            owned[account].update(found_by[owner] for owner in asked.owners)
    sites = list(dict.fromkeys(asked.names.site_id for asked in batch))
    yield from (int(now.timestamp()), int(SIGHTINGS_KEPT.total_seconds()))
    yield from sighting_fields(now)
    yield from oldest_sightings(now).values()
    yield from (int(CONDUCT_KEPT.total_seconds()), len(sites), int(SENDERS.kept.total_seconds()))
    yield from sites
    yield from (" ".join(numbers) for numbers in counted_in.values())
    yield from steps.values()
    yield from (" ".join(map(str, sorted(numbers))) for numbers in owned.values())


def _learn_args(names: CommentNames, ruling: Ruling, *, at: datetime) -> list[Arg]:
    """Return the arguments of `LEARN` and `UNLEARN` for a decision on this comment."""
    return [
        LETTERS[ruling],
        names.site_id,
        *(
            number
            for fading in (SENDERS, CONTENT)
            for number in (
                fading.number_of(at),
                int(fading.kept.total_seconds()),
                fading.kept // fading.bucket + 1,
            )
        ),
        *(2 if fading_of(kind) is CONTENT else 1 for kind, _name in names.written()),
    ]


_T = TypeVar("_T")

# Version 2; counters of version 1 did not separate decisions on offers, and expire.
_DECISIONS, _COUNTED, _FILLED = "d2", "decision2", "filled2"
_SIGHTINGS, _CONDUCT, _OWNED = "s", "c", "o"
_ALL = (_DECISIONS, "d", _SIGHTINGS, _CONDUCT, _OWNED)


class ValkeyHistoryStore(ValkeyStore):
    """Counts decisions, sightings and accounts' conduct in Valkey or Redis 7 and later.

    Gathering, learning and undoing take one round trip each. Reads and writes have separate
    circuits, because a full server still answers reads.
    """

    what = "the history store"
    # A batch that waits longer is judged without history, degraded.
    timeout_seconds = 0.25

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "slopsieve",
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(url, prefix=prefix)
        self.reading = Circuit("reading", monotonic=monotonic)
        self.teaching = Circuit("teaching", monotonic=monotonic)

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        """Return the history of each comment, in order.

        At its first gathering a comment is counted as seen at `now`, and in its account's conduct,
        for later comments, also of the same batch. A server that refuses writes or is nearly full
        counts nothing. With `only_filled` raise `HistoryBlankError` while `is_blank`.
        """
        batch = []
        for comment in comments:
            of_comment = names_of(comment)
            steps = steps_of(comment, now=now) if of_comment.accounts() else None
            batch.append(Asked(of_comment, steps, owners_of(comment.sender) if steps else ()))
        # Without duplicates: decisions, sightings, conducts, and the keys that find accounts.
        names = [asked.names for asked in batch]
        wanted = list(dict.fromkeys(name for one in names for name in one.read()))
        watched = list(dict.fromkeys(name for one in names for name in one.watched()))
        accounts = list(dict.fromkeys(name for one in names for name in one.accounts()))
        owners = list(dict.fromkeys(owner for asked in batch for owner in asked.owners))
        if not wanted:
            return [History() for _ in comments]
        keys = [
            self._key("sites"),
            *(self._key(f"seen:{comment.id}") for comment in comments),
            *(self._key(f"{_DECISIONS}:{name}") for name in wanted),
            *(self._key(f"{_SIGHTINGS}:{name}") for name in watched),
            *(self._key(f"{_CONDUCT}:{name}") for name in accounts),
            *(self._key(f"{_OWNED}:{name}") for name in owners),
            self._key(_FILLED),
        ]
        args: list[Arg] = [len(batch), len(wanted), len(watched), len(accounts)]
        args += [*_gather_args(batch, watched, accounts, owners, now=now), int(only_filled)]
        answers = self._run(self.reading, GATHER, keys, args)
        if answers is None:
            raise HistoryBlankError("the history store lost what it knew, or was never filled")
        seen, decisions, sightings, kept = (answer.decode().split("\n") for answer in answers)
        counters = {
            name: Counter(decisions=_counts(line))
            for name, line in zip(wanted, decisions, strict=True)
        }
        # Without watched names the text is empty, which split() returns as one line.
        for name, line in zip(watched, sightings, strict=bool(watched)):
            counters.setdefault(name, Counter()).sightings = _counts(line)
        own = [datetime.fromtimestamp(int(at), UTC) if at else None for at in seen]
        return gather_histories(
            names,
            counters,
            seen_before=own,
            now=now,
            steps=[asked.steps for asked in batch],
            conducts={
                name: _counts(line) for name, line in zip(accounts, kept, strict=bool(accounts))
            },
        )

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Count a decision made at `at`, in any order; return False if it was already counted."""
        return self._count(LEARN, decision_id, names_of(comment), ruling, at)

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Undo a decision exactly, for good; return False if it was not counted."""
        return self._count(UNLEARN, decision_id, names_of(comment), ruling, at)

    def forget(self, sender: Sender) -> None:
        """Delete this sender's counts at all sites: address, e-mail, name, account, and older keys.

        The accounts of comments with this e-mail or name are included. Networks, systems and
        domains stay, because other people share them.
        """
        names = names_of_person(sender)
        if names:
            self._through(self.teaching, lambda client: self._forget(client, sender, names))

    def conducts(self, sender: Sender, *, now: datetime) -> Mapping[str, Conduct]:
        """Return the conduct of the accounts that `forget` would delete, by account name."""

        def find(client: redis.Redis) -> dict[str, Conduct]:
            found = {}
            for name in sorted(self._accounts_of(client, sender)):
                fields: dict[Any, Any] = client.hgetall(self._key(f"{_CONDUCT}:{name}"))
                counted = {field.decode(): int(value) for field, value in fields.items()}
                conduct = conduct_from([counted], now=now)
                if conduct is not None:
                    found[name] = conduct
            return found

        return self._through(self.reading, find)

    def is_blank(self) -> bool:
        """Return True if the store is new or was cleared since `mark_filled`."""
        return not self._ask(lambda client: client.exists(self._key(_FILLED)))

    def mark_filled(self) -> None:
        """Record that all past decisions have been learnt."""
        self._ask(lambda client: client.set(self._key(_FILLED), 1))

    def ping(self) -> None:
        """Raise `StoreUnavailableError` if the server does not respond."""
        self._ask(lambda client: client.ping())

    def _accounts_of(self, client: redis.Redis, sender: Sender) -> set[str]:
        owners = [owner for one in sender.generations for owner in owners_of(one)]
        start = len(self._key(f"{_CONDUCT}:"))
        found = {
            key.decode()[start:]
            for owner in owners
            for key in cast("set[bytes]", client.smembers(self._key(f"{_OWNED}:{owner}")))
        }
        return found.union(names_of_accounts(sender))

    def _forget(self, client: redis.Redis, sender: Sender, names: Sequence[str]) -> None:
        accounts = self._accounts_of(client, sender)
        names = [*names, *(name for one in accounts for name in all_names_of_account(one))]
        known: set[Any] = client.smembers(self._key("sites"))
        sites = [SiteId(site.decode()) for site in known]
        everywhere = [*names, *(at_site(name, site) for name in names for site in sites)]
        for start in range(0, len(everywhere), 500):
            some = everywhere[start : start + 500]
            client.unlink(*(self._key(f"{part}:{name}") for name in some for part in _ALL))

    def _count(
        self, script: str, decision_id: str, names: CommentNames, ruling: Ruling, at: datetime
    ) -> bool:
        counters = (self._key(f"{_DECISIONS}:{name}") for _kind, name in names.written())
        keys = [self._key(f"{_COUNTED}:{decision_id}"), self._key("sites"), *counters]
        return bool(self._run(self.teaching, script, keys, _learn_args(names, ruling, at=at)))

    def _run(self, circuit: Circuit, script: str, keys: Sequence[str], args: Sequence[Arg]) -> Any:
        return self._through(circuit, lambda client: client.register_script(script)(keys, args))

    def _through(self, circuit: Circuit, question: Callable[[redis.Redis], _T]) -> _T:
        return circuit.call(lambda: self._ask(question))

    def _key(self, name: str) -> str:
        # Every release has had the braces.
        return f"{self._prefix}:{{reputation}}:{name}"


def _counts(line: str) -> dict[str, int]:
    parts = line.split()
    return dict(zip(parts[::2], map(int, parts[1::2]), strict=True))
