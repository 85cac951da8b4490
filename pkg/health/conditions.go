package health

// conditions judges by the standard conditions of a custom resource.
func (j *Judge) conditions(s *subject) (Health, bool) {
	return Health{}, false
}
