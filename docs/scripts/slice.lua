-- A column: a slice for each bearer, as an identifier that filters, tables and exports know.
column { name = "slice", role = "property", value = function(e) return (e.drb or 0) % 2 end }
