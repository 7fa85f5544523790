# Around every page.
skip = Skip to the content
language = Language
environment = Environment
sign-out = Sign out
period = Period
period-days = { $count ->
    [one] { $number } day
   *[other] { $number } days
}
period-other = Other dates
period-from = From
period-to = to
show = Show
show-all = Show all limits
generated = Made
to-overview = To the overview

# What limits are.
limit = Limit
allowed = { $limit } in { $window }
allowed-none = no limit, windows of { $window }
window-seconds = { $number } s
window-minutes = { $number } min
window-hours = { $number } h
window-day = 1 day
scope-each = for each { $scope }
scope-shared = for all { $scope } together
mode-observe = observed
mode-block = enforced
mode-watch = watched
mode-exempt = exempt
group-unlimited = Endpoints without a limit

# How they stand.
status = Status
status-no-data = no data
status-ok = ok
status-near = near
status-over = over
status-unmeasurable = can’t be measured
status-watch = watched
status-exempt = exempt
peak = Peak
peak-unknown = not known
peak-between = { $lower } to { $upper }
peak-at-least = at least { $peak }
peak-up-to = { $peak }, at most { $upper }
used = Used
evidence = Evidence
evidence-days = { $part } of { $whole } days
evidence-traffic = { $part } of { $whole } days with traffic
evidence-enough = { $part } days
recommended = Recommended
action-wait = wait
action-review = review
action-raise = raise
action-raise-to = raise to { $value }
action-lower = lower
action-lower-to = lower to { $value }
action-keep = keep
bar-text = Peak { $peak }, limit { $limit }, alert at { $alert }
legend-peak = peak
legend-doubt = may have been

# The overview.
tally-limits = { $count ->
    [one] { $number } limit
   *[other] { $number } limits
}
tally-over = { $number } over
tally-near = { $number } near
tally-loose = { $number } loose
tally-unproven = { $number } unproven
tally-unknowable = { $number } unknowable
tally-over-meaning = more than the limit was seen within one window
tally-near-meaning = the alert was reached
tally-loose-meaning = half of the limit or less would do
tally-unproven-meaning = too little evidence to recommend a value yet
tally-unknowable-meaning = no data, or windows too short to be seen
empty-filter = No limit of this environment is like that now.
empty-data = Nothing is known of this period: choose another one, or see below what was read and let folga drain run.
empty-environment = No limit of the catalog applies to this environment: give its [[group.limit]] a value or a mode for it.
coverage = What was read
coverage-minutes = { $covered } of { $minutes } minutes
coverage-days = { $count ->
    [one] { $number } full day in a row
   *[other] { $number } full days in a row
}
gaps = Gaps: minutes that nothing is known of
gap-minutes = { $number } min
gap-more = and { $number } more
empty-sources = No source feeds this environment: name it under environments of a [[source]], then run folga drain.
ignored = Left out of all figures

# Alerts.
alerts-now = Alerted now
alerts-none = Nothing is alerted now.
alerts-last = Last alerts
alert-since = since
alert-peak = peak { $peak }
alert-silenced-until = silenced until
alert-pending = waits
alert-sent = sent
alert-replaced = replaced by a newer one
alert-silenced = silenced
alert-unsent = recorded only
level-ok = ok
level-near = near
level-over = over
level-refused = refused
level-warning = warning
level-critical = critical
level-ended = ended

# Pages that can't be shown.
problem-environment = There is no such environment
problem-environment-detail = The catalog has no environment “{ $name }”. Choose one of: { $known }.
problem-limit = There is no such limit
problem-limit-detail = No limit of { $environment } has the id “{ $name }”. The overview lists all of them.
problem-group = There is no such group
problem-group-detail = The catalog has no group “{ $name }”. Choose one of: { $known }.
problem-address = This address can’t be understood
problem-status-detail = There is no status “{ $name }”. Choose one of: { $known }.
problem-language-detail = There is no language “{ $name }”. Choose one of: { $known }.
problem-busy = The database does not answer
problem-busy-detail = It is busy or down. Try again in a few seconds.
problem-internal = Something failed
problem-internal-detail = The log of the service says what.

# The page of a limit.
why = Why
projection = Projected peak
projection-text = { $peak }, between { $low } and { $high }
method-gev-return-level = the level that daily peaks pass once in 90 days, from a fitted extreme value distribution; bounds of 90 % confidence
method-observed-margin = the observed peak and a quarter more: too few or too similar days for a distribution
evidence-text = { $covered } days in a row read in full ({ $required } needed), { $active } days with traffic ({ $needed } needed)
dominated-with = With it
dominated-without = Without it
dominated-sizing = { $limit }, for a projected peak of { $peak }
no-recommendation-watch = Nothing is limited here. The what-if below shows what a limit would have refused.
no-recommendation-exempt = Exempt: counted, neither limited nor judged.
facts = Facts
fact-endpoints = Endpoints
fact-scope = Counted
fact-source = Source
fact-window = Window
fact-algorithm = Algorithm
fact-mode = Mode
fact-alert = Alert at
fact-total = Requests
fact-accepted = Accepted
fact-accepted-peak = Peak of accepted
fact-percentiles = Windows with traffic
fact-history = Counted since
fact-trend = Trend
fact-assumed = Assumed by the team
percentiles-text = half hold up to { $p50 }, 95 % up to { $p95 }, 99 % up to { $p99 }, 99.9 % up to { $p999 }
window-note-seconds = shorter than the minutes that are counted, so only bounds are known
window-note-minutes = summed from whole minutes
window-note-day = from midnight to midnight, local time
algorithm-anchored = anchored
algorithm-anchored-note = a window opens at an identity’s first request
algorithm-sliding = sliding
algorithm-sliding-note = at each request those of the window before it count
algorithm-fixed = fixed
algorithm-fixed-note = windows follow the clock
algorithm-sampled = sampled
algorithm-sampled-note = only what was there at each run was seen
mode-note-observe = counted, nothing is refused
mode-note-block = what is above it is refused
mode-note-watch = counted, nothing is limited
mode-note-exempt = not limited and not judged
alert-note = { $percent } % of the limit, rounded up
trend-rising = daily peaks grow by { $change } a week
trend-falling = daily peaks shrink by { $change } a week
trend-steady = daily peaks are steady
partial = The period is not over: its last hours may still grow.
censored = Only accepted requests are counted and the limit was reached, so the true peak may be higher.
sampled = Samples alone were seen, so the true peak may be higher: at least this much.
chart = Hourly peaks
chart-text = Largest window of every hour from { $from } to { $to }: at most { $largest }; { $unknown } hours are not known.
chart-hint = Drag over the chart to zoom in, click twice to zoom out. With the keyboard: left and right move the cursor, + and − zoom, 0 shows all.
legend-limit = limit
legend-alert = alert
legend-gap = not known
legend-ignored = left out
cursor = Hour
upper = at most
chart-zero = An hour that was read and quiet is a line on the ground; one that is hatched was not read.
what-if = What if the limit were another
what-if-limit = Limit
what-if-try = Try
what-if-slide = Move the limit
what-if-requests = Requests it would have refused
what-if-windows = Windows with refusals
what-if-alert = Alert at
what-if-exact = Exact: windows follow the clock.
what-if-estimate = An estimate: windows that follow the clock stand in for real ones; it is never less than what the peak has above the limit.
what-if-unknown = Minute counts can’t show windows this short, so nothing can be said of what would have been refused.
unseen = Minute counts can’t show windows this short.
what-if-wrong = Enter a whole number from 1 on.
profile = When it is busy
profile-hours = By hour of day
profile-weekdays = By weekday
profile-legend = bar: the largest hourly peak; line: the typical one (median)
profile-column = { $name }: largest { $largest }, typical { $typical }, of { $hours } hours
profile-column-unknown = { $name }: not known
profile-hour = Hour
profile-largest = Largest
profile-typical = Typical
profile-fits = Limit that would fit
as-table = As a table
distribution = What windows held
distribution-legend = Closed windows by what they held. Bars are logarithmic: each doubling adds the same length.
distribution-value = Requests
distribution-windows = Windows
distribution-over = over the limit
distribution-empty = No window with traffic has closed in this period. Choose a longer one.
calendar = What is known of each day
calendar-week = Week
calendar-day = { $day }: { $share } read, { $total } requests, peak { $peak }
calendar-day-sampled = { $day }: { $share } read, peak at least { $peak }
calendar-quiet = { $day }: { $share } read, no traffic
calendar-gap = { $day }: nothing read
calendar-ignored = { $what }; hours left out
calendar-legend-full = read
calendar-legend-part = in part
calendar-legend-quiet = read, no traffic
calendar-legend-gap = not read
top = Largest peaks by identity
top-identity = Identity
top-at = At
top-empty = No identity has been seen in this period.
weekday-0 = Mon
weekday-1 = Tue
weekday-2 = Wed
weekday-3 = Thu
weekday-4 = Fri
weekday-5 = Sat
weekday-6 = Sun

# Signing in.
sign-in = Sign in
sign-in-token = API token
sign-in-wrong = That is not the token. It is the value of FOLGA_API_TOKEN.
