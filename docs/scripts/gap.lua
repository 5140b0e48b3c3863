-- A detector: a marker where a point has not been hit for longer than 5 ms.
local gap, last = marker("gap", { "silent_ns" }), nil
on("D ip.in--*", function(e)
  if last and e.t_ns - last > 5 * ms then gap(e.t_ns - last) end
  last = e.t_ns
end)
