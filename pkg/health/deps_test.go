package health

import _ "github.com/fluxcd/cli-utils/pkg/kstatus/status"
