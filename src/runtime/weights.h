/* Tensors of the state set as a safetensors file. */
#ifndef MW__RUNTIME_WEIGHTS_H
#define MW__RUNTIME_WEIGHTS_H

#include <millwright/trainer.h>

/* Writes and reads tensors of a safetensors file: names[i] is that of entry i of the state set, NULL = not in the file.
 * Reading wants every one, converts between F16 and F32, and changes nothing on failure. `note` is put into the file's
 * metadata (NULL = none). `of_folder`: the file is one that its folder has by convention, and links of the folder do
 * not lead out of it. */
struct mw__safetensors_note;
mw_status mw__weights_write(mw_trainer *trainer, const char *path, const char *const *names,
                            const struct mw__safetensors_note *note, mw_error *err);
mw_status mw__weights_read(mw_trainer *trainer, const char *path, bool of_folder, const char *const *names,
                           mw_error *err);

#endif
