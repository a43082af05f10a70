package app

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/postgres"
)

// registerBackupAges tells how much would be lost with the database. Never is
// older than whatever an alert allows.
func registerBackupAges(reg prometheus.Registerer, backups *postgres.Backups, now func() time.Time) {
	age := func(name, help string, of func(postgres.Moments) time.Time) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "anet_hub_" + name, Help: help}, func() float64 {
			if at := of(backups.Last()); !at.IsZero() {
				return now().Sub(at).Seconds()
			}
			return math.Inf(1)
		})
	}
	reg.MustRegister(
		age("backup_age_seconds", "How old the state in the last backup is; infinite without one.",
			func(m postgres.Moments) time.Time { return m.Taken }),
		age("backup_proven_age_seconds", "How old the state in the last backup is that was proven to restore; infinite without one.",
			func(m postgres.Moments) time.Time { return m.Proven }),
	)
}
