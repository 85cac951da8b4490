package health

// words judges by the phase or state that a status names.
func (j *Judge) words(s *subject) (Health, bool) {
	return Health{}, false
}
