// The result of `sojourn import` as JSON; `sojourn import --help` lists the keys. No state.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/event_json/event_json_importer.h"
#include "analysis/hits/hit_import.h"
#include "analysis/imports/import_summary.h"
#include "analysis/latseq/latseq_importer.h"
#include "analysis/oai_t/oai_t_importer.h"
#include "analysis/xlap/xlap_importer.h"

namespace sojourn::present {

// `bytes`: of the trace that was written.
nlohmann::json import_json(const imports::Summary<latseq::FileSummary>& summary,
                           const std::string& trace, std::uint64_t bytes);
nlohmann::json import_json(const imports::Summary<oai_t::FileSummary>& summary,
                           const std::string& trace, std::uint64_t bytes);
nlohmann::json import_json(const imports::Summary<event_json::FileSummary>& summary,
                           const std::string& trace, std::uint64_t bytes);
nlohmann::json import_json(const imports::Summary<xlap::FileSummary>& summary,
                           const std::string& trace, std::uint64_t bytes);

nlohmann::json import_json(const imports::Summary<hits::FileSummary>& summary,
                           const std::string& trace, std::uint64_t bytes);

}  // namespace sojourn::present
