package health

// suspension finds objects that were told to pause.
func (j *Judge) suspension(s *subject) (Health, bool) {
	return Health{}, false
}
