package install

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Options are what is decided for all of a run.
type Options struct {
	// TakeOwnership lets parts take objects, definitions and releases that somebody else keeps.
	TakeOwnership bool
	// DeleteDefinitions lets definitions go of which no object is left; DeleteData lets
	// custom resources go with their operator.
	DeleteDefinitions, DeleteData bool
	// Timeout bounds each step.
	Timeout time.Duration
	// Annotate returns the relationship annotations for a definition that carries none; nil
	// for not to annotate.
	Annotate func(*unstructured.Unstructured) map[string]string
	// Set is the ID of the ApplySet of the System, whose label its own objects may carry.
	Set string
	// Resume is the ID of the run that is gone on with: releases that it left pending are its own.
	Resume string
	// Before are the releases of the installation when its last run ended, in the order in
	// which they were made (Journal).
	Before []ReleaseState
	// To is what is rolled back to, in the same order.
	To []ReleaseState
}
