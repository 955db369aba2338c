// Earlier names of sotto/models.h.
#ifndef SOTTO_MODELS_REGISTRY_REGISTRY_H_
#define SOTTO_MODELS_REGISTRY_REGISTRY_H_

#include "sotto/models.h"

namespace sotto::registry {

using sotto::ModelKind;
using Store = ModelStore;
using InstalledModel = ModelInfo;

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_REGISTRY_H_
