"""What the checks ask at most, and how long they wait: docs/limits.md is made of this module.

A line of comment is the title of what follows it, and the text under a name says what it limits.
"""

from __future__ import annotations

from typing import Final

# How long a call may take

TIME_LIMIT: Final = 0.4
"""seconds of the time limit that `faults.end-in-time` sets; the other limits of that call are long"""

TIME_LIMIT_GRACE: Final = 0.25
"""seconds that a call may take beyond its time limit on an idle machine"""

WAKE_UPS: Final = 4
"""times that a call over its limit waits for the machine, each as long as a sleeping program is late then: its timer, \
its connection, its events, its reader"""

RETRIED_LIMIT: Final = 0.5
"""seconds that a call with retries may take in all, of which its first request, which is refused, takes most"""

RETRIED_AT_MOST: Final = 0.75
"""seconds after which it counts as late: with the whole limit for its second request, it takes more"""

OTHER_TIME_LIMITS: Final = 60.0
"""seconds of the time limits that must not end a call of `faults.end-in-time`"""

PATIENCE_WITH_LIMITS: Final = 6.0
"""seconds until `faults.end-in-time` gives up on a call that ignores its time limits"""

READERS_PAUSE: Final = 0.8
"""seconds that a reader pauses after the first token, while a time limit of the call is `TIME_LIMIT`"""

PATIENCE_WITH_MANY: Final = 60.0
"""seconds for all concurrent calls of `load.calls-at-once-do-not-mix` together"""

PATIENCE_WITH_SLOW_CALLS: Final = 30.0
"""seconds for concurrent calls that wait, but for those of `faults.end-in-time`"""

LONG_BODY_SECONDS: Final = 4.0
"""seconds that a call with a longer body may be expected to take: otherwise it is tried with a shorter one"""

CLOSED_WITHIN: Final = 0.25
"""seconds within which a call that is closed must end"""

CONNECTION_CLOSED_WITHIN: Final = 0.5
"""seconds within which the connection of a call that was closed must end"""

# How long the provider waits

SILENCE: Final = 0.1
"""seconds before the answer whose times are compared with those in METADATA"""

SHARE_OF_PAUSE: Final = 0.5
"""of that pause is the least that METADATA may say: clocks may be started after the request was sent"""

TIMES_LENIENCE: Final = 20
"""times longer than by the suite's clock, which starts later on a busy machine, is the most that METADATA may say"""

FOLDED_WITHIN: Final = 10.0
"""seconds that a call may have taken whose events are not seen one by one, multiplied by the same"""

PAUSE: Final = 0.2
"""seconds in the middle of a stream; tokens must come before half of them have passed"""

SLOW_PAUSE: Final = 0.3
"""seconds in each answer of `load.slow-calls-do-not-block-others`"""

LATE_ANSWER: Final = 3.0
"""seconds until an answer comes that is too late for every method of the adapter"""

LATE_ANSWER_LIMIT: Final = 0.3
"""seconds of the time limit of that call"""

RETRY_AFTER: Final = 1
"""seconds of Retry-After in answers that a call may ask again for"""

RETRY_AFTER_READ: Final = 7.0
"""seconds of Retry-After that must be read from a header as a number"""

RETRY_AFTER_LONG: Final = 86_400.0
"""seconds of Retry-After that must be read, too: a day"""

RETRY_AFTER_TOO_LONG: Final = 900.0
"""seconds of Retry-After that no adapter waits before it tries again"""

RETRY_AFTER_DATE: Final = 120.0
"""seconds from now of Retry-After as a date"""

RETRY_AFTER_PAST: Final = -90.0
"""seconds from now of a date that has passed"""

RETRY_AFTER_MS: Final = 0.25
"""seconds in a header of milliseconds"""

DATE_LENIENCE: Final = 60.0
"""seconds that may pass between the writing of a date and its reading on a busy machine; dates have whole seconds"""

RETRY_SLACK: Final = 0.05
"""seconds that a retry may come earlier than Retry-After"""

SHARED_PAUSE: Final = 0.05
"""seconds before each answer of `load.equal-calls-are-each-made`"""

RETRIED_ROUNDS: Final = 3
"""times that a call with retries is made until one is not late"""

SET_RETRIES: Final = 2
"""retries that an adapter is made with whose factory takes them"""

REQUESTS_A_SECOND: Final = 4
"""requests of one call within a second, at most, to a provider that answers 503 to all"""

# How many calls are made

CALLS_AT_ONCE: Final = 200
"""concurrent calls of `load.calls-at-once-do-not-mix`"""

WORK_AT_ONCE: Final = 6.0
"""seconds of processor time that they may take together: where they would take more, there are fewer of them"""

LEAST_CALLS_AT_ONCE: Final = 40
"""concurrent calls at least, however much work one takes"""

CALLS_IN_LOOPS: Final = 4
"""concurrent calls, threads and event loops of an adapter that works in each of them"""

LOOPS_WITH_CALLS: Final = 2
"""event loops, one after the other, in each of which an adapter gets so many concurrent calls"""

REFUSALS: Final = 8
"""statuses, drawn from those that providers do not document, that come with the provider's own error"""

CLOSED_CALLS: Final = 52
"""calls in a row that are closed midway"""

CANCELLED_CALLS: Final = 52
"""calls that are cancelled while they wait, each with a connection of its own"""

CANCELLED_AT_ONCE: Final = 13
"""of them at a time"""

CALLS_BEFORE_MEMORY: Final = 12
"""calls before memory is measured, twice"""

CALLS_PER_MEASURE: Final = 20
"""calls in a row of which the memory is measured"""

MEMORY_ROUNDS: Final = 15
"""measures, at most: an adapter that keeps nothing is done after the second that a cache leaves alone"""

LONG_PROMPT: Final = 100
"""sentences in the prompts of calls whose memory is measured"""

BYTES_A_CALL: Final = 300
"""bytes that may stay of a call; an adapter that keeps the events of its calls leaves some thousands"""

LOOPS_PER_MEASURE: Final = 5
"""calls in a row, each in an event loop of its own, of which the memory is measured"""

BYTES_A_LOOP: Final = 3000
"""bytes that may stay of an event loop that ended; a client that is kept for it has some thousands"""

ADAPTERS_BEFORE_MEMORY: Final = 2
"""adapters made, called and closed before the memory that they leave is measured"""

ADAPTERS_PER_MEASURE: Final = 4
"""adapters in a row of which the memory is measured"""

ADAPTER_ROUNDS: Final = 40
"""measures, at most: a cache of functions keeps 128 of what they made; where nothing is left, there are four"""

BYTES_AN_ADAPTER: Final = 1000
"""bytes that may stay of an adapter; one that is kept has some thousands"""

USES_BEFORE_LEFTOVERS: Final = 6
"""calls, and adapters made and closed, before what they leave behind is counted"""

TOLERATED_LEFTOVERS: Final = 4
"""threads, sockets and files of each kind may stay: a pool may grow by some of what it keeps for use again"""

TOLERATED_AFTER_FAULTS: Final = 3
"""may stay after all faults"""

LEFTOVERS_CLOSED_WITHIN: Final = 2.0
"""seconds in which whatever is being closed may end"""

FAULTS_CLOSED_WITHIN: Final = 1.0
"""seconds in which it may end after all faults"""

NAME_LENGTH: Final = 80
"""characters of an adapter's name in the name of the folder that keeps its failing prompts"""

PROMPTS_FOR_HASHES: Final = 200
"""scenarios, at most, that are translated again in processes with other hash seeds"""

# How large prompts and answers are

TURNS: Final = 601
"""turns of the longest conversation"""

ROUNDS: Final = 120
"""rounds with a tool in one conversation"""

CALLS_IN_A_TURN: Final = 24
"""calls in one turn"""

TOOLS: Final = 128
"""tools of one call"""

PARTS: Final = 40
"""parts of one message"""

WORDS: Final = 30_000
"""words of the longest message, and of the longest result"""

IMAGES: Final = 21
"""images of one conversation: more than a provider that limits them takes in one request"""

IMAGES_IN_A_TURN: Final = 3
"""images of each of its messages: fewer than a provider takes in one"""

IMAGE_BYTES: Final = 900_000
"""bytes of an image, of which one message has two"""

PREFIXES: Final = 8
"""shorter prompts, about, with which each long one is compared"""

FIRST_BODY_SHARE: Final = 32
"""times shorter than the longest is the first of the bodies that grow as long as the adapter reads them in time"""

BODY_GROWTH: Final = 8
"""times longer than the one before is each of them at most: what a short one costs says little about a long one"""

CUTS: Final = 40
"""places at random where a stream is cut in two packets, and as many inside characters and line ends"""

PLACES_AT_THE_ENDS: Final = 3
"""events at each end of a stream after which it is cut short, and as many between them"""

MOST_RESIDENT: Final = 1_500_000_000
"""bytes of memory that the adapter's process may have, with all that it imports, before its calls are measured"""

TEXT_PIECES: Final = 4_400
"""pieces of one character that a streamed text comes in: a buffer of 4,096 loses the first ones"""

ARGUMENT_PIECES: Final = 1_200
"""pieces of one character that a call's arguments come in: more than Python calls functions inside each other"""

LONG_ANSWER: Final = 500_000
"""characters of the answer of which some pieces come in small chunks"""

PIECES_IN_DRIPS: Final = 12
"""pieces of it that come so, of some 128"""

DRIPS_OF_A_PIECE: Final = 20
"""small chunks of each of them"""

DRIP_PAUSE: Final = 0.001
"""seconds between two of these chunks"""

GROWN_BY: Final = 1.5
"""times as much processor time may an answer take with the small chunks at its end as with them at its beginning"""

GROWN_BY_ALL: Final = 1.2
"""times as much as the cheapest of the other methods: only a method that takes more is measured with both"""

GROWN_MORE_THAN: Final = 0.008
"""seconds of processor time that it must take more, besides"""

LONG_ARGUMENTS: Final = 200_000
"""characters of the arguments of a call that come in as many pieces, the last ones in small chunks"""

ARGUMENTS_COST: Final = 12
"""times as much processor time may they take as a text of that length, which is sent so"""

GROWTH_ROUNDS: Final = 5
"""times that both are measured again before they are said to differ"""

# How many options, and how many findings

OPTIONS_AT_ONCE: Final = 3
"""options whose combinations all come together in some call"""

OPTIONS_BY_METHOD: Final = 2
"""options whose combinations all come together in some call by each method of the adapter"""

ROWS_DRAWN: Final = 30
"""rows at random from which each next one is chosen"""

SHOWN_OF_CALLS: Final = 5
"""concurrent calls whose wrong answers are shown one by one"""

SHOWN_OF_A_PROMPT: Final = 3
"""findings that are shown of one demanding prompt, and of one of two that differ a little"""

SHOWN_OF_A_MODEL: Final = 2
"""findings that are shown of one call with another model"""
