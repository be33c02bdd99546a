"""The scripts that count and read counters inside Valkey or Redis, with their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from service.domain.decision import Ruling
from service.reputation.conduct import CONDUCT_KEPT, Steps
from service.reputation.decay import (
    CONTENT,
    LETTERS,
    SENDERS,
    SIGHTINGS_KEPT,
    fading_of,
    oldest_sightings,
    sighting_fields,
)
from service.reputation.names import CommentNames

Arg = str | int | float


class Asked(NamedTuple):
    """One comment of a batch: its names, what it changes of its account, what finds that again."""

    names: CommentNames
    steps: Steps | None
    owners: tuple[str, ...]


class Touched(NamedTuple):
    """The names that a batch reads: of decisions, of sightings, of conducts, and of what finds."""

    wanted: Sequence[str]
    watched: Sequence[str]
    accounts: Sequence[str]
    owners: Sequence[str]


def touched_by(batch: Sequence[Asked]) -> Touched:
    """Return the names that a batch reads, each once."""
    names = [asked.names for asked in batch]
    return Touched(
        wanted=list(dict.fromkeys(name for one in names for name in one.read())),
        watched=list(dict.fromkeys(name for one in names for name in one.watched())),
        accounts=list(dict.fromkeys(name for one in names for name in one.accounts())),
        owners=list(dict.fromkeys(owner for asked in batch for owner in asked.owners)),
    )


# KEYS: the set of sites; n markers of comments; m counters of decisions; w counters of sightings; c
# conducts of accounts; what accounts are found again by; the mark of a filled store.
# ARGV: n, m, w, c, now, seconds to keep, the fields of the hour and of the day to count in, the
# oldest number of each that still counts, seconds to keep conducts, how many sites, seconds to keep
# them, the sites; then for each counter of sightings which comments are counted in it, as numbers
# parted by blanks; for each conduct the steps of each comment, as "number>steps;"; for each conduct
# the numbers of what finds it again; 1 if the store must be filled.
# Returns four texts of as many lines: when each comment was counted before (empty if now), fields
# and counts of the decisions, of the sightings and of the conducts as they were before this batch;
# nothing if the store must be filled and is not. Thousands of small answers would cost the client
# more than all else. Old sightings of what is seen all the time go here. A server that is full or
# only replicates refuses to write: then nothing is counted, and what is known is returned all the
# same. So is it from three quarters of `maxmemory` on: a flood must not take the room of decisions,
# nor that of the queue where both share a server. A server that does not tell is believed to have
# room.
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
# site; for the running week and the running day each: its number, seconds to keep, how many back
# still count; then for each counter 1 or 2, whether it counts by weeks or by days.
# The marker says what was counted, "u" once it was taken back: a delayed repeat of `learn` must
# not bring an undone decision back.
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

# KEYS and ARGV as above. A counter that expired meanwhile must not become negative.
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


def gather_args(
    batch: Sequence[Asked], touched: Touched, *, now: datetime, only_filled: bool
) -> list[Arg]:
    """Return the arguments of `GATHER` for these comments and the counters they read."""
    counted_in: dict[str, list[str]] = {name: [] for name in touched.watched}
    steps = dict.fromkeys(touched.accounts, "")
    owners: dict[str, set[int]] = {name: set() for name in touched.accounts}
    found_by = {name: number for number, name in enumerate(touched.owners, start=1)}
    for number, asked in enumerate(batch, start=1):
        for name in asked.names.sighted():
            counted_in[name].append(str(number))
        for account in asked.names.accounts()[:1]:
            steps[account] += f"{number}>{_steps(asked.steps)};"
            owners[account].update(found_by[owner] for owner in asked.owners)
    sites = list(dict.fromkeys(asked.names.site_id for asked in batch))
    kept = int(SIGHTINGS_KEPT.total_seconds())
    args: list[Arg] = [len(batch), len(touched.wanted), len(counted_in), len(steps)]
    args += [int(now.timestamp()), kept, *sighting_fields(now), *oldest_sightings(now).values()]
    args += [int(CONDUCT_KEPT.total_seconds())]
    args += [len(sites), int(SENDERS.kept.total_seconds()), *sites]
    args += [" ".join(numbers) for numbers in counted_in.values()]
    args += steps.values()
    args += [" ".join(map(str, sorted(numbers))) for numbers in owners.values()]
    return [*args, int(only_filled)]


def _steps(steps: Steps | None) -> str:
    if steps is None:
        return ""
    parts = (("=", steps.set), ("+", steps.add))
    return " ".join(f"{how}{name}:{value}" for how, some in parts for name, value in some.items())


def learn_args(names: CommentNames, ruling: Ruling, *, at: datetime) -> list[Arg]:
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
