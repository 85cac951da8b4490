package health

// kind judges the built-in kinds, each by rules of its own.
func (j *Judge) kind(s *subject) (Health, bool) {
	return Health{}, false
}
