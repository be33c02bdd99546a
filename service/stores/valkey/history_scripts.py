"""The scripts that count and read counters inside Valkey or Redis, with their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service.domain.decision import Ruling
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

# KEYS: the set of sites; n markers of comments; m counters of decisions; counters of sightings; the
# mark of a filled store.
# ARGV: n, m, now, seconds to keep, the fields of the hour and of the day to count in, the oldest
# number of each that still counts, how many sites, seconds to keep them, the sites; then for each
# counter of sightings which comments are counted in it, as numbers parted by blanks; 1 if the store
# must be filled.
# Returns three texts of as many lines: when each comment was counted before (empty if now), fields
# and counts of the decisions, and of the sightings as they were before this batch; nothing if the
# store must be filled and is not. Thousands of small answers would cost the client more than all
# else. Old sightings of what is seen all the time go here. A server that is full or only replicates
# refuses to write: then nothing is counted, and what is known is returned all the same. So is it
# from three quarters of `maxmemory` on: a flood must not take the room of decisions, nor that of
# the queue where both share a server. A server that does not tell is believed to have room.
GATHER = """
local n, m, kept = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[4]
local hour, day = ARGV[5], ARGV[6]
local oldest = {h = tonumber(ARGV[7]), d = tonumber(ARGV[8])}
local first = 10 + tonumber(ARGV[9])
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
for i = 11, first do write('SADD', KEYS[1], ARGV[i]) end
write('EXPIRE', KEYS[1], ARGV[10])
local seen = {}
for i = 1, n do
    seen[i] = ''
    if not write('SET', KEYS[1 + i], ARGV[3], 'NX', 'EX', kept) then
        seen[i] = redis.call('GET', KEYS[1 + i]) or ''
    end
end
local decisions, sightings = {}, {}
for j = 1, m do
    decisions[j] = table.concat(redis.call('HGETALL', KEYS[1 + n + j]), ' ')
end
for j = 1, #KEYS - 2 - n - m do
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
return {
    table.concat(seen, '\\n'), table.concat(decisions, '\\n'), table.concat(sightings, '\\n')
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
    batch: Sequence[CommentNames], wanted: Sequence[str], watched: Sequence[str], *, now: datetime
) -> list[Arg]:
    """Return the arguments of `GATHER` for these comments and the counters they read.

    `wanted` are those of decisions, `watched` those of sightings.
    """
    counted_in: dict[str, list[str]] = {name: [] for name in watched}
    for number, names in enumerate(batch, start=1):
        for name in names.sighted():
            counted_in[name].append(str(number))
    sites = list(dict.fromkeys(names.site_id for names in batch))
    kept = int(SIGHTINGS_KEPT.total_seconds())
    args: list[Arg] = [len(batch), len(wanted), int(now.timestamp()), kept]
    args += [*sighting_fields(now), *oldest_sightings(now).values()]
    args += [len(sites), int(SENDERS.kept.total_seconds()), *sites]
    return args + [" ".join(numbers) for numbers in counted_in.values()]


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
                fading.kept // fading.stretch + 1,
            )
        ),
        *(2 if fading_of(kind) is CONTENT else 1 for kind, _name in names.written()),
    ]
