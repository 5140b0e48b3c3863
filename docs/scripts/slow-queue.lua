-- A filter of journeys: packets that spent most of their time in the RLC queue.
filter_journeys(function(j) return (j:at("rlc.tx") or 0) * 2 > j.latency_ns end)
