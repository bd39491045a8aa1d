/* A model's folder: model.mil and the weight file that it names. */
#ifndef MW__MIL_FOLDER_H
#define MW__MIL_FOLDER_H

#include "base/text/text.h"
#include "mil/weights/blob.h"

/* Replaces the model in `folder`, which is made if it is missing, as a whole or not at all; all other files stay.
 *
 * The rename of the text is the moment of the change, and no file is ever written that the text in place names. The
 * weights go to weights/weight.bin, as in Apple's layout, where neither a text nor that file is there; else to
 * weights/weight-<hash of the content, 16 hex digits>.bin, and the text that is written names it. Then the weight files
 * of these names that the new text does not name are removed: weight.bin if the old text named it, the others always
 * (a killed process may have left them). So whoever reads the text and then what it names gets the old model or the new
 * one; if the model was replaced in between, the old weights may be missing, but are never others.
 *
 * One process at a time: the folder is locked (flock) where its file system knows locks; who comes second waits.
 * A failure leaves the old model, except that of the last fsync: then the new one is in place, and both weight files.
 * `text` names MW__WEIGHT_FILE at the places in `blobs`. */
mw_status mw__mil_write_folder(const mw_allocator *allocator, const char *folder, const mw__text *text,
                               const mw__blob_list *blobs, bool durable, mw_error *err);

#endif
