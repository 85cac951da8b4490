package health

// finding is what one condition, or one word, says of the object.
type finding struct {
	Health
	// soft: it follows from the word alone, and gives way to what tells more.
	soft bool
	// whole: it speaks for the object, not for a part of it.
	whole bool
	// step: it is well, but only a step of the way.
	step bool
	// slight: it does not count where the object says of itself that it is well.
	slight bool
	// late: if it has been so for long, it is trouble.
	late bool
	// calm: it says that nothing goes on; quiet: that nothing is wrong.
	calm, quiet bool
	// foreign: nobody knows what it means.
	foreign bool
}

// before reports whether f decides, rather than g.
func (f finding) before(g finding) bool {
	if a, b := f.weight(), g.weight(); a != b {
		return a > b
	}
	if f.whole != g.whole {
		return f.whole
	}
	return f.Since.After(g.Since)
}

// weight orders findings: known trouble, a stop, what is known to go on, what is thought
// to be trouble or to go on, what is well, and steps.
func (f finding) weight() int {
	switch {
	case f.Status == Degraded && !f.soft:
		return 9
	case f.Status == Missing:
		return 8
	case f.Status == Suspended:
		return 7
	case f.Status == Progressing && !f.soft:
		return 6
	case f.Status == Degraded:
		return 5
	case f.Status == Progressing:
		return 4
	case f.Status == Healthy && !f.step:
		return 3
	case f.Status == Healthy:
		return 2
	}
	return 0
}
