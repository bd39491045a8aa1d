/* All of libmillwright_data: files as data sets, data sets that change or join others, and files of tensors made of
 * others, beside the core. Data sets
 * in memory, random splits, loaders and batches are in the core, <millwright/dataset.h>.
 *
 *     mw_dataset *train = mw_dataset_open_idx("data/mnist", "train", &err);
 *     fit.data.training = train;
 *
 * Programs that include this link with libmillwright_data, which brings the core: find_package(millwright COMPONENTS
 * data), or pkg-config millwright_data.
 *
 * Threads: as <millwright/dataset.h>. */
#ifndef MILLWRIGHT_DATA_H
#define MILLWRIGHT_DATA_H

#include <millwright/app.h>
#include <millwright/dataset_derived.h>
#include <millwright/dataset_files.h>
#include <millwright/dataset_images.h>
#include <millwright/dataset_labels.h>
#include <millwright/dataset_sounds.h>
#include <millwright/log_mel.h>
#include <millwright/millwright.h>
#include <millwright/table_encoder.h>
#include <millwright/table_fields.h>
#include <millwright/table_stream.h>
#include <millwright/tensors_derived.h>

#endif
