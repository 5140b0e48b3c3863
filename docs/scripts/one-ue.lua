-- A filter: only the events of one UE, and those that name none.
filter(function(e) return e.rnti == nil or e.rnti == 0x4601 end)
