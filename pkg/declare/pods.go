package declare

import "github.com/kubectl-sysop/kubectl-sysop/pkg/relation"

func (s *Spec) podRules(string, string) []relation.Rule { return nil }
