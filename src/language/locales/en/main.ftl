# Why a value is recommended.
reason-evidence = Not enough evidence yet: { $covered } of { $required } days in a row are covered, and { $active } of { $needed } days have traffic.
reason-evidence-covered = Not enough evidence yet: { $covered } of { $required } days in a row are covered.
reason-evidence-active = Not enough evidence yet: { $active } of { $needed } days have traffic.
reason-identity = One identity ({ $identity }) peaks at { $peak }, more than twice the next one's { $next }. With it { $with } would fit, without it { $without }: look at what it did before deciding.
reason-day = One day ({ $day }) peaks at { $peak }, more than twice any other day's { $next }. With it { $with } would fit, without it { $without }: look at what happened before deciding.
reason-censored = Only accepted requests are counted, and the limit of { $limit } was reached: { $peak } means "at least { $peak }". This evidence can neither keep nor lower it.
reason-sampled = Samples saw { $peak }, and between them there may have been more. That can neither keep nor lower the limit of { $limit }: to decide, count by minute what comes in.
reason-ceiling = { $needed } would be needed for { $percent } % of it to hold the projected peak of { $projected }, but no more than { $ceiling } may be recommended.
reason-bounds = Minute counts leave open what a window held: between { $lower } and { $upper }. Decide with a finer measurement.
reason-within-bounds = Even the most that the minute counts allow for, { $upper }, is below the alert at { $alert }.
reason-tight = The projected peak of { $projected } passes { $percent } % of { $limit }. { $value } is the smallest value of two digits that holds it.
reason-loose = { $value } would do: { $percent } % of it hold the projected peak of { $projected }, and it is at most half of { $limit }.
reason-fits = { $percent } % of { $limit } hold the projected peak of { $projected }. The smallest value that would is { $value }, more than half of it.
none = none
