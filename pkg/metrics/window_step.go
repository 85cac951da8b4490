package metrics

import "time"

// The steps that a window can have.
const (
	shortStep = time.Minute
	ruleStep  = 5 * time.Minute // also the interval of the recording rules
	longStep  = 15 * time.Minute
	hourStep  = time.Hour
)

// Steps are the steps that a window can have.
func Steps() []time.Duration { return []time.Duration{shortStep, ruleStep, longStep, hourStep} }

// StepFor is the step of a window for which none is chosen.
func StepFor(w Window) time.Duration {
	const day = 24 * time.Hour
	switch length := w.Length(); {
	case length <= 2*day:
		return shortStep
	case length <= 35*day:
		return ruleStep
	case length <= 100*day:
		return longStep
	}
	return hourStep
}

// sampling is the interval at which gauges of pods are sampled within a step.
func sampling(step time.Duration) time.Duration { return max(step/5, time.Minute) }
