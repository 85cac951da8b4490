package health

// generation: a status that is of an older generation than the object says nothing
// of it.
func (j *Judge) generation(s *subject) (Health, bool) {
	return Health{}, false
}
