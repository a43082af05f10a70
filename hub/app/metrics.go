package app

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anet-hub/anet/hub/internal/budget"
	"github.com/anet-hub/anet/hub/internal/certs"
	"github.com/anet-hub/anet/shared/version"
)

// registerMetrics adds what belongs to no package of rules: the pool of
// connections, the memory budget, the certificates, the build.
func registerMetrics(reg prometheus.Registerer, pool *pgxpool.Pool, memory *budget.Budget, keeper *certs.Keeper) {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "anet_hub_" + name, Help: help}, value)
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "anet_hub_build", Help: "1, labelled with the build."}, []string{"version", "commit"})
	build.WithLabelValues(version.Version, version.Commit).Set(1)
	reg.MustRegister(build,
		gauge("memory_bytes", "Bytes of bodies and answers in flight.", func() float64 { return float64(memory.Used()) }),
		gauge("database_connections", "Connections of the pool.", func() float64 { return float64(pool.Stat().TotalConns()) }),
		gauge("database_connections_busy", "Connections in use.", func() float64 { return float64(pool.Stat().AcquiredConns()) }),
		gauge("database_connections_limit", "Connections the pool may open.", func() float64 { return float64(pool.Stat().MaxConns()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "anet_hub_database_waits_total", Help: "Requests that waited for a connection."},
			func() float64 { return float64(pool.Stat().EmptyAcquireCount()) }),
	)
	if keeper != nil {
		reg.MustRegister(gauge("certificate_expiry_timestamp_seconds", "When the first of the certificates ends; 0 while one is missing.",
			func() float64 { return float64(max(keeper.Expiry().Unix(), 0)) }))
	}
}
