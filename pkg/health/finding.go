package health

// finding is what one condition, or one word, means for the object.
type finding struct {
	Health
	// soft: it follows from the word alone, and yields to specific findings.
	soft bool
	// whole: it is about the object, not about a part of it.
	whole bool
	// step: it is good, but only a step of several.
	step bool
	// slight: it does not count if the object reports that it is well.
	slight bool
	// late: it becomes trouble after a while.
	late bool
	// calm: nothing happens at present; quiet: nothing is wrong.
	calm, quiet bool
	// foreign: its meaning is unknown.
	foreign bool
}

// before reports whether f outweighs g.
func (f finding) before(g finding) bool {
	if a, b := f.weight(), g.weight(); a != b {
		return a > b
	}
	if f.whole != g.whole {
		return f.whole
	}
	return f.Since.After(g.Since)
}

// weight orders findings: certain trouble, a stop, certain progress, probable trouble or progress,
// what is well, and steps.
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
