package inventory

// symbols numbers strings, the empty one as 0.
type symbols struct {
	list  []string
	index map[string]uint32
}

func newSymbols() symbols {
	return symbols{list: []string{""}, index: map[string]uint32{"": 0}}
}

func (s *symbols) number(v string) uint32 {
	if v == "" {
		return 0
	}
	n, ok := s.index[v]
	if !ok {
		n = uint32(len(s.list))
		s.list = append(s.list, v)
		s.index[v] = n
	}
	return n
}

func (s *symbols) find(v string) (uint32, bool) { n, ok := s.index[v]; return n, ok }
