SELECT value FROM json_each('[1, {"a": 2}]'), stages WHERE stages.name = 'decode'
