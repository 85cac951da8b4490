package regulate

// Reasons lists why a signal is not sent, or not taken back: what Refusal.Reason may be.
func Reasons() []string {
	return []string{
		BecauseGitOps, BecauseBudget, BecauseHoldOff, BecauseDamped, BecauseNoAction, BecauseAllowStop, BecauseExcused,
		BecauseFailed, BecauseNotRead, BecauseAbsent, BecauseBusy, BecauseCause, BecauseNotHeld, BecauseLeft,
	}
}

// States lists how far an operation may be.
func States() []State {
	return []State{Waiting, Intended, Done, Already, Undoing, Undone, Kept, Left, Gone, NotNeeded, Errored}
}

// Phases lists how far a hold may be.
func Phases() []Phase { return []Phase{Stopping, Held, Recovering, LeftAsIs} }

// Verbs lists what a step may do.
func Verbs() []Verb { return []Verb{Send, Join, Leave, Resume, TakeBack} }

// AppStatuses lists what an app may be to regulation.
func AppStatuses() []AppStatus { return []AppStatus{Free, IsHeld, IsCause, NotRegular} }
