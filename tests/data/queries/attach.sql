ATTACH 'x' AS y
