package regulate

// Reasons lists why a signal is not sent, or not undone: what Refusal.Reason may be.
func Reasons() []string {
	return []string{
		BecauseGitOps, BecauseBudget, BecauseHoldOff, BecauseDamped, BecauseNoAction, BecauseAllowStop, ReasonOverridden,
		BecauseFailed, ReasonUnread, ReasonMissing, BecauseBusy, BecauseCause, BecauseNotHeld, ReasonConflict,
	}
}

// States lists how far an operation may be.
func States() []State {
	return []State{Waiting, Started, Done, AlreadySet, Undoing, Undone, HeldElsewhere, Conflict, TargetGone, NotNeeded, Failed}
}

// Phases lists how far a hold may be.
func Phases() []Phase { return []Phase{Stopping, Held, Recovering, Conflicted} }

// Verbs lists what a step may do.
func Verbs() []Verb { return []Verb{Send, AddCause, RemoveCause, Resume, RecoverApp} }

// AppStatuses lists what an app may be to regulation.
func AppStatuses() []AppStatus { return []AppStatus{NotHeld, IsHeld, IsCause, Flapping} }
