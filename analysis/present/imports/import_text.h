// The summary that `sojourn import` prints for a recording: the events, and the skipped lines with
// reasons. No state.
#pragma once

#include <string>

#include "analysis/event_json/event_json_importer.h"
#include "analysis/hits/hit_import.h"
#include "analysis/latseq/latseq_importer.h"
#include "analysis/oai_t/oai_t_importer.h"
#include "analysis/xlap/xlap_importer.h"

namespace sojourn::present {

std::string import_text(const latseq::FileSummary& file);
std::string import_text(const oai_t::FileSummary& file);
std::string import_text(const event_json::FileSummary& file);
std::string import_text(const xlap::FileSummary& file);
std::string import_text(const hits::FileSummary& file);

}  // namespace sojourn::present
